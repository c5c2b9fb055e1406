"""Groups, tables and answers for the mathematics, computed another way than the program does."""
