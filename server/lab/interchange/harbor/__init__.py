"""Harbor: the tasks of a set as a Harbor dataset, and what Harbor's agents did on them as result sets."""
