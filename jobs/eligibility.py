"""spark-submit jobs/eligibility.py …: `ppdp eligibility` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["eligibility", *sys.argv[1:]])
