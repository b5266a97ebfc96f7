"""Copying, and what was copied as a user gets it back."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Locator, expect


def copy(button: Locator) -> None:
    """Press a button that copies, and wait until it has said so; it does not say so for long."""
    button.evaluate(
        """button => {
          button.said = new Promise((done) => {
            const look = () => button.textContent === "Copied" && done();
            new MutationObserver(look).observe(button, { childList: true, characterData: true, subtree: true });
          });
        }"""
    )
    button.click()
    button.evaluate("button => button.said")


def pasted(context: BrowserContext) -> str:
    """Return what the clipboard holds: pasted by its keys into a field of a page that may do nothing else."""
    page = context.new_page()
    page.set_content("<textarea></textarea>")
    field = page.locator("textarea")
    field.focus()
    page.keyboard.press("Control+V")
    expect(field).not_to_have_value("")
    text = field.input_value()
    page.close()
    return text
