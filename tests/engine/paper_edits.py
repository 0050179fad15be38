"""The four worked examples of the RTC paper (Allamanis et al. 2024, Appendix C) as data.

Descriptions are quoted only where a figure depends on their words. A prediction that the paper marks as matching
without printing it is the new code; the other ones stand as printed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One edit with the paper's predictions: for each description, and for the baseline."""

    path: str
    old: str
    new: str
    comment: str
    predictions: dict[str, str]
    from_comment: str
    rtc: float
    unchanged: float
    description_bleu: tuple[float, ...] = ()


def replaced(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


_GO_OLD = """\
}
cmd := []string{"go", "build"}
if ctx.Config.Build.Flags != "" {
    cmd = append(cmd, strings.Split(ctx.Config.Build.Flags, " ")...)}
}
cmd = append(cmd, "-ldflags="+ldflags, "-o", output, ctx.Config.Build.Main)
if err := run(goops, goarch, cmd); err != nil {"""
_GO_NEW = replaced(_GO_OLD, 'strings.Split(ctx.Config.Build.Flags, " ")', "strings.Fields(ctx.Config.Build.Flags)")

_SWARM_OLD = """\
}
// check if files were uploaded through the manifest
if dirManifest.Size() == 0 {
    return swarm.ZeroAddress, fmt.Errorf("no files added from tar")
}"""
_SWARM_NEW = replaced(_SWARM_OLD, "Size()", "Length()")

_THIRD = "Please use Length() instead of Size() as this code will work more correctly across different go versions."

_KMS_CALL = """"arn:aws:kms:%s:%s:key/%s" % (
    aws_stack.get_local_region(),
    TEST_AWS_ACCOUNT_ID,
    kms_master_key_id,
)"""
_KMS_OLD = f"""\
kms_master_key_id = long_uid()
sse_specification = {{"Enabled": True, "SSEType": "KMS",
    "KMSMasterKeyId": kms_master_key_id}}
kms_master_key_arn = {_KMS_CALL}
result = dynamodb.create_table(
    TableName=table_name,"""
_KMS_NEW = replaced(_KMS_OLD, _KMS_CALL, "aws_stack.kms_key_arn(kms_master_key_id)")

_PHP_OLD = """\
}
// HTTPS detection.
add_action( 'init', 'wp_cron_schedule_https_detection' );
add_action( 'wp_https_detection', 'wp_update_https_detection_errors' );
add_filter( 'cron_request', 'wp_cron_conditionally_prevent_sslverify', 9999 );"""
_PHP_NEW = replaced(_PHP_OLD, "wp_cron_schedule", "wp_schedule")

EXAMPLES = (
    Example(
        path="build.go",
        old=_GO_OLD,
        new=_GO_NEW,
        comment="Is `strings.Fields(ctx.Config.Build.Flags)` better?",
        predictions={
            "Please switch to strings.Fields() and keep the code consistent with above.": _GO_NEW,
            "Please use correct strings.Fields call.": _GO_NEW,
            "This should use a Go-style append of `strings.Fields(ctx.Config.Build.Flags)` to cmd.": _GO_NEW,
        },
        from_comment=_GO_NEW,
        rtc=100.0,
        unchanged=0.0,
        description_bleu=(15.917, 7.171, 50.868),
    ),
    Example(
        path="tar.go",
        old=_SWARM_OLD,
        new=_SWARM_NEW,
        comment="I think `Length` is more legible here as `Size` might infer actual size in bytes",
        predictions={
            "please use the length ( Length() ) method instead of the size() method.": _SWARM_NEW,
            'In this case, "Size" is not a good thing to read. "Length" is better.': _SWARM_NEW,
            _THIRD: _SWARM_NEW,
        },
        from_comment=_SWARM_NEW,
        rtc=100.0,
        unchanged=0.0,
        description_bleu=(2.416, 2.390, 2.443),
    ),
    Example(
        path="test_dynamodb.py",
        old=_KMS_OLD,
        new=_KMS_NEW,
        comment="Use aws_stack.kms_key_arn here.",
        predictions={
            "First description.": _KMS_OLD,
            "Second description.": _KMS_OLD,
            "Third description.": replaced(_KMS_OLD, "get_local_region", "get_region"),
        },
        from_comment=_KMS_NEW,
        rtc=0.0,
        unchanged=2 / 3,
    ),
    Example(
        path="default-filters.php",
        old=_PHP_OLD,
        new=_PHP_NEW,
        comment="Would admin_init be better?",
        predictions={
            "First description.": _PHP_NEW,
            "Second description.": replaced(_PHP_OLD, "wp_cron_schedule_https", "wp_cron_https"),
            "Third description.": _PHP_OLD,
        },
        from_comment=replaced(_PHP_OLD, "'init'", "'admin_init'").removeprefix("}\n"),
        rtc=33.333,
        unchanged=1 / 3,
    ),
)
