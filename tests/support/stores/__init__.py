"""Real stores for tests: an HDFS and a server of the S3 protocol on this machine."""
