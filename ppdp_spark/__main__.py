"""`python -m ppdp_spark`: the command `ppdp`."""

from ppdp_spark.cli.app import main

if __name__ == "__main__":
    main()
