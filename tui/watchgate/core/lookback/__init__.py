"""What agents asked for, as their transcripts tell it afterwards, judged and counted."""
