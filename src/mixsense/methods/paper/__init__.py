"""The paper's own methods: Algorithms 5 to 9, and the noiseless scheme of the appendix."""
