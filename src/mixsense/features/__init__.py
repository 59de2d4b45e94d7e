"""What a query is made of: the names and ranges of its entries, and their coding into [−1, 1]."""
