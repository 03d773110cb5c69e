"""Everything that speaks to GitHub's API. Built on gidgethub's protocol code; the gaps around it are covered here."""
