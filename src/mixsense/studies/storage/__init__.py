"""Where studies are kept: tables, transactions, versions."""
