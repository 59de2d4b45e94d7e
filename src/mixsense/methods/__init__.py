"""The methods: generators that yield rounds and return a recovery, one file each."""
