"""The league: players, their versions and families, and ratings for life, over all competitions."""
