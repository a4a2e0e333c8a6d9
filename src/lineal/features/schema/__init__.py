"""Terms out of a model file, every member checked."""
