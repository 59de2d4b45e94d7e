"""The paper's two predecessors, rebuilt: Mixed-Coloring (Yin 2019), and the schemes of Krishnamurthy et al. (2019)."""
