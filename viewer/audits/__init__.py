"""Audits a user's contact code: compares it with the truth, and names its inputs, the situations in which it is wrong,
and causes."""
