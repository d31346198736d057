"""A desk for tests: a person who plans a lunch, and two documents."""

from m3bench.tasks.desk import Desk, DeskRefusal, Document, Known

LUNCH = Desk(
    facts=(
        Known(
            asked=("how many", "guest", "people"),
            said="We are 14.",
            value="14",
            later="We are 17 now.",
            change="One thing first: three more have said yes, so we are 17.",
        ),
        Known(asked=("allerg", "intoleran"), said="One of us is allergic to birch pollen.", value="birch pollen"),
        Known(asked=("budget", "spend", "cost at most"), said="I can spend $230.", value="230"),
        Known(asked=("when", "what time"), said="It begins at 12:30.", value="12:30"),
    ),
    refusals=(
        DeskRefusal(
            about=("budget", "limit", "spend"),
            wants=("exceed", "raise", "over", "exception"),
            said="No, the limit is not mine to lift.",
        ),
    ),
    documents=(
        Document(name="K-04", title="Lunches in the house", text="Nothing hot after two."),
        Document(name="K-09", title="Allergies", text="Birch pollen: no apples, no pears."),
    ),
)
