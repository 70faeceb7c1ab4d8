"""Make the students' folder `starter/` from the reference: `python -m release`."""
