"""What only the command line needs: files in, files out, tables."""
