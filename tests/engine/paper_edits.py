"""The four worked examples of the RTC paper (Allamanis et al. 2024, Appendix C) as data.

Words stand as printed, with the back ticks that the typesetting turned into quotes. A prediction that the paper marks
as matching without printing it is the new code; the other ones stand as printed.
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
    printed_bleu: tuple[float, ...] = ()
    """Where the paper prints others than we compute."""


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

_PHP_COMMENT = """\
Would this be better as `admin_init` instead? This will reduce frontend DB writes.
```suggestion
add_action( 'admin_init', 'wp_cron_schedule_https_detection' );
```"""

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
        comment="Same as above - we can use 'aws_stack.kms_key_arn(..)' here.",
        predictions={
            "Please rename the aws_stack function.\n`kms_key_arn` is the convention for methods.": _KMS_OLD,
            "Avoid calling into other modules for simple formatting operations. The kms_key_arn operation in aws_stack "
            "is a one-liner, so no need to extract it as its own function. Similarly, avoid calling AWS APIs on the "
            "module level if you need to pass parameters.": _KMS_OLD,
            'Remove "get.local.region()" call from here. This should be using the region from the AWS stack.': replaced(
                _KMS_OLD, "get_local_region", "get_region"
            ),
        },
        from_comment=_KMS_NEW,
        rtc=0.0,
        unchanged=2 / 3,
        description_bleu=(20.842, 9.344, 5.066),
        printed_bleu=(20.829, 9.344, 5.066),
    ),
    Example(
        path="default-filters.php",
        old=_PHP_OLD,
        new=_PHP_NEW,
        comment=_PHP_COMMENT,
        predictions={
            "The filter/hook name used to schedule events changed from `wp_cron_schedule_` to just `wp_schedule_`. "
            "Remove the `wp_cron_prefix` here.": _PHP_NEW,
            "Please replace “schedule” with “cron”; this causes confusion to those who are unfamiliar with Wordpress "
            "jargon.": replaced(_PHP_OLD, "wp_cron_schedule_https", "wp_cron_https"),
            "Please rename the actions and filter used in this commit from `wp_https_detection` to "
            "`wp_cron_conditionally_prevent_sslverify` to `wp_https_detection`.": _PHP_OLD,
        },
        from_comment=replaced(_PHP_OLD, "'init'", "'admin_init'").removeprefix("}\n"),
        rtc=33.333,
        unchanged=1 / 3,
        description_bleu=(11.667, 0.757, 11.345),
    ),
)
