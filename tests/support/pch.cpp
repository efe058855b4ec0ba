// Empty: the source of the target that holds the precompiled header.
