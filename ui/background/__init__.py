"""Work away from the thread of the window: tasks, the database, runs, what is written."""
