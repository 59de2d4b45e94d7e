"""The methods: generators that yield rounds, receive what was asked, and return a `Recovery`."""
