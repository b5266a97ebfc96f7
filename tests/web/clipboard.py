"""What was copied, as a user gets it back."""

from __future__ import annotations

from playwright.sync_api import BrowserContext


def pasted(context: BrowserContext) -> str:
    """Return what the clipboard holds: pasted by its keys into a field of a page that may do nothing else."""
    page = context.new_page()
    page.set_content("<textarea></textarea>")
    field = page.locator("textarea")
    field.focus()
    page.keyboard.press("Control+V")
    text = field.input_value()
    page.close()
    return text
