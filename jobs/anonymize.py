"""spark-submit jobs/anonymize.py …: the command `ppdp anonymize` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["anonymize", *sys.argv[1:]])
