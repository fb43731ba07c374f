from django.db import migrations, models


def move_extras(apps, schema_editor):
    """What messages said beyond events stood in the metadata, where a bot could write over it."""
    rows = apps.get_model("sessions_app", "Run").objects.filter(metadata__has_key="openai")
    for run in rows.only("metadata", "extras").iterator(chunk_size=500):
        noted = run.metadata["openai"]
        if isinstance(noted, dict) and all(name.isdecimal() or name == "instructions" for name in noted):
            run.extras = run.metadata.pop("openai")
            run.save(update_fields=["extras", "metadata"])


class Migration(migrations.Migration):

    dependencies = [
        ("sessions_app", "0003_idempotent_answer_session"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="extras",
            field=models.JSONField(
                blank=True, default=dict, help_text="What its messages say beyond events, by their index."
            ),
        ),
        migrations.AddField(
            model_name="summary",
            name="adopted",
            field=models.BooleanField(default=False, help_text="Taken over from the parent, without a summarizer."),
        ),
        migrations.AlterField(
            model_name="idempotentanswer",
            name="scope",
            field=models.CharField(help_text="Hash of the method and path of the request.", max_length=300),
        ),
        migrations.RunPython(move_extras, migrations.RunPython.noop),
    ]
