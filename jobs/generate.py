"""spark-submit jobs/generate.py …: the command `ppdp generate` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["generate", *sys.argv[1:]])
