"""Data that one already has: a table of queries and answers, fitted with as many models as it supports."""
