"""RTC Inspector: how well does a local code model understand your code?

The folders `app`, `core`, `resources` and `ui` lie at the top of the repository. In a checkout links here make them
`rtc_inspector.app` and so on; the wheel holds them here, so that nothing of ours is at the top of site-packages.
"""
