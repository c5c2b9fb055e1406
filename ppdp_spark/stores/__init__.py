"""Files on local disks, HDFS and object stores: the few operations a run needs, the same everywhere."""
