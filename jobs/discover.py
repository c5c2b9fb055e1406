"""spark-submit jobs/discover.py …: `ppdp discover` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["discover", *sys.argv[1:]])
