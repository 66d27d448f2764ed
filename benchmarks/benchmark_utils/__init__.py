"""What the objective and its solvers share."""
