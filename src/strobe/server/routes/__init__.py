"""Endpoints by noun; each module exports `ENDPOINTS`, and `strobe.server.app.ROUTES` names it."""
