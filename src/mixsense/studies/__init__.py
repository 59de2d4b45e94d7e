"""Durable studies: a method that runs as its answers come, in any number of processes, on any number of days.

Words, each for one thing:

question
    One answer that a round needs: a query that is asked once. A query with three repeats is three questions.
slot
    The number of a question in its round: query × repeats + repeat.
ticket
    One hand-out of a question, named by random numbers. A question that is handed out again gets another ticket.
id
    How the world calls a ticket: the study's key and the random numbers as letters, as in ``bcdf-ghjklmnpqrstvwxzbcd``;
    an older mixsense counted, as in ``bcdf-17``. `Question.id` is one.
lease
    Until when the answer to a question that is out is waited for; then it is handed out again.
answer
    The number that was told to a ticket. It is *surplus* if another answer to the same question came first.
group
    Answers with the same number come from one respondent, and so from one hidden model.

`study` is the front; `registry` creates, loads, lists and deletes studies; `playback` runs the method; `run` asks a
callable; `files` reads and writes answers; `storage` below them holds the tables.
"""
