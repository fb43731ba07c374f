"""The ground: conversation memory as plain Python values and functions, without a framework, I/O or a clock.

Read `transcript.py` first (what a conversation consists of, and the reader that prompts see it through), then
`memory_settings.py` (what can be set) and `plan.py` (what comes out). This is how a prompt comes about:

1. `setting_values.py` lays the settings in layers; `builder.py` takes them, a reader, and what is asked beside.
2. `budget.py` says how many tokens there are, `fixed_parts.py` what is sent whatever the history is, and must fit.
3. `deciding.py` asks the strategy's file in `strategies/` for its `candidates.py`: which runs, and which summary.
4. `handed_down.py` cuts the parents' contexts and the summary to half of what the fixed parts leave.
5. `selection.py` reads the candidates in their precedence, has each rendered and counted by `run_rendering.py`, and
   ends at the first that does not fit; if it is the very first, `shortening.py` may cut it.
6. `gaps.py` refuses a prompt that loses runs, or lets an extract stand in for them.
7. `fates.py` tells of each run what became of it and why, `prompt_warnings.py` what there is to know.
8. The format's file in `prompt_formats/` made `pieces.py` of all that on the way, mostly by `turns.py`; now it makes
   what is sent of them.

Where what is stored with runs says it exactly, 5 is a search in sums (`deciding.weigh`). Those in `seeds/` do 3 to 7 as
chuk-ai-session-manager does. Around the prompt stand what comes in and goes out (`openai_*.py`, `file_formats/`),
when and how runs are summarized (`summaries.py`, `summarizers/`), what would have happened (`replays/`,
`comparison.py`), and whether any messages are valid (`validity.py`). docs/engine.md uses it all without the server.
"""
