"""Many strengths of one penalty: the walk from the strongest down, and the folds that choose among them."""
