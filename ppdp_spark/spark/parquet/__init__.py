"""Folders of Parquet files on any store: read and written by Spark, or by its tasks where it cannot."""
