"""How many answers will it take, and what is the best that anyone could do."""
