"""Criteria about households, or whatever unit people belong to: employers, practices, school classes.

They are not fields of `privacy`: `columns.household` makes them of the criteria that are.
"""
