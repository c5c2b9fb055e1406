"""spark-submit jobs/attack.py …: the command `ppdp attack` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["attack", *sys.argv[1:]])
