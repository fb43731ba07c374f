

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0015_members_and_invitations'),
    ]

    operations = [
        migrations.AddField(
            model_name='settingsversion',
            name='sessions_changed',
            field=models.PositiveIntegerField(blank=True, help_text='How many sessions inherited what it changed when it was saved, counted up to 10,001.', null=True),
        ),
    ]
