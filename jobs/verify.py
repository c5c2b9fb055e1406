"""spark-submit jobs/verify.py …: the command `ppdp verify` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["verify", *sys.argv[1:]])
