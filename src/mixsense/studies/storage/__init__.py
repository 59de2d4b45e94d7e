"""Where studies are kept: tables and their versions, and what is read from and written to them."""
