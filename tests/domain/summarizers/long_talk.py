"""A long conversation with facts said at chosen turns, to see how long a rolling summary keeps them."""

# ruff: noqa: RUF001 (full-width marks are what people write)

import random

from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus, ToolCall

# What is said, and the words of it that a summary must hold.
FACTS = [
    ("My daughter Wiebke has asthma, so no rooms with carpets.", ("wiebke", "asthma")),
    ("Oh, and I can only lift 8 kilos since the operation.", ("8 kilos",)),
    ("The key is with Mr. Okonjo on the ground floor.", ("okonjo",)),
    ("We have decided against the ferry.", ("against the ferry",)),
    ("By the way, the inspection is on 17 February at 8:30.", ("17 february", "8:30")),
    ("My customer number is KX-90417, in case you need it.", ("kx-90417",)),
    ("I never eat fish.", ("never eat fish",)),
    ("Our budget ends at 2,350 euros, not a cent more.", ("2,350 euros",)),
    ("I am deaf in my left ear.", ("deaf", "left ear")),
    ("Let us take the corner flat instead of the attic.", ("corner flat", "attic")),
    ("My brother-in-law Tadeusz will drive the van.", ("tadeusz",)),
    ("The lease must start no later than 1 September.", ("1 september",)),
    ("Wir haben uns gegen das Parkett entschieden.", ("gegen das parkett",)),
    ("Übrigens bin ich gegen Hausstaub allergisch.", ("hausstaub", "allergisch")),
    ("Mon fils Bastien ne supporte pas le bruit.", ("bastien", "bruit")),
    ("Le devis porte le numéro 5583-B.", ("5583-b",)),
    ("Mi suegra usa silla de ruedas.", ("suegra", "silla de ruedas")),
    ("La mudanza tiene que ser el 9 de octubre.", ("9 de octubre",)),
    ("我对猫毛过敏，所以不能养猫。", ("猫毛过敏",)),
    ("合同编号是HT20931。", ("ht20931",)),
    ("父は階段を上れません。", ("階段を上れません",)),
    ("引っ越しは十月十二日に決めました。", ("十月十二日",)),
]
_SMALL_TALK = [
    "That makes sense so far.",
    "It was a long day here, the weather is awful.",
    "I read something about {name} the other week and found it quite interesting.",
    "My neighbour said it took them about {n} minutes, which surprised me.",
    "Good point, I had not thought of that.",
    "We had coffee and talked about it for a while.",
    "I think the second idea sounds better than the first.",
    "Thanks, that was a helpful overview!",
]
_QUESTIONS = [
    "Can you explain how {topic} works in general?",
    "What should I look at when it comes to {topic}?",
    "How do other people handle {topic}?",
    "Is there anything about {topic} that I should know before {name} calls?",
    "Could you give me a short list for {topic}?",
]
_ANSWERS = [
    "{Topic} usually comes down to three things: cost, time and how much you want to do yourself.",
    "Many people start about {n} days ahead and are glad of it later.",
    "It depends on the house, but a rough guide is {n} percent of the whole.",
    "In general, companies like {name} offer a first visit for free.",
    "You could ask two or three firms and compare what they write about {topic}.",
    "Most of them answer within {n} hours, some take longer in summer.",
    "Here is a short list:\n\n- Measure the rooms\n- Compare at least {n} offers\n- Ask {name} for a reference",
    "Keep in mind that {topic} can take longer than expected.",
    "I can go into detail on any of these points.",
    "Let me know if you would like to go further into {topic}.",
]
_TOPICS = ("moving boxes", "insurance", "old pipes", "the paint", "handing over keys", "parking permits", "lamps")
_NAMES = ("Harlan", "Brightway", "Osterholm", "Pellworm", "Castellane", "Umbra", "Vinterby", "Quarrel")


def long_talk(facts, *, turns, seed):
    """Return so many runs of about 150 tokens; `facts` says what is said in which of them, from 1 on."""
    chance = random.Random(seed)

    def filled(text):
        topic = chance.choice(_TOPICS)
        return text.format(topic=topic, Topic=topic.capitalize(), name=chance.choice(_NAMES), n=chance.randint(2, 90))

    def run(position):
        said = [filled(chance.choice(_SMALL_TALK)), filled(chance.choice(_QUESTIONS))]
        if position in facts:
            said.insert(chance.randint(0, 2), facts[position])
        events = [Event(EventKind.MESSAGE, " ".join(said), Role.USER)]
        answer = " ".join(map(filled, chance.sample(_ANSWERS, 6)))
        events.append(Event(EventKind.MESSAGE, answer, Role.ASSISTANT))
        if chance.random() < 0.2:
            topic = chance.choice(_TOPICS)
            call = ToolCall("c", "search", f'{{"query": "{topic}"}}', f'{{"hits": [{{"title": "About {topic}"}}]}}')
            events.append(Event(EventKind.TOOL_CALL, tool=call, parent=1))
        return Run(position, RunStatus.COMPLETED, tuple(events))

    return [run(position) for position in range(1, turns + 1)]
