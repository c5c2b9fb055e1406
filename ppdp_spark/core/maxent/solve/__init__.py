"""The distribution of maximum entropy that agrees with a release and with statements [MaxEnt]."""
