"""What a job cannot see, change or leave."""
