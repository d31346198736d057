"""What a lab uses: many runs without a person, studies, judges, reports and new tasks.

Nothing that answers a client's call or writes its card imports anything from here.
"""
