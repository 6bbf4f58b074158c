"""Commands on requests: `ls`, `show`, `allow`, `deny`, `handback`, `answer`, `grants`."""
