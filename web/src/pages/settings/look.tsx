// How the page looks, kept in this browser.

import type { JSX } from "preact";
import { DENSITIES, density, setDensity, setTheme, THEMES, theme } from "../../app/theme";
import { COLOURS } from "../../series/palette";
import { Segments } from "../../ui/tabs";

export function Look(): JSX.Element {
  return (
    <section class="settings-card" aria-label="Look">
      <dl class="settings-list">
        <div>
          <dt>Colours</dt>
          <dd>
            <Segments label="Colours" value={theme.value} options={THEMES} onChange={setTheme} />
          </dd>
        </div>
        <div>
          <dt>Density</dt>
          <dd>
            <Segments label="Density" value={density.value} options={DENSITIES} onChange={setDensity} />
          </dd>
        </div>
        <div>
          <dt>Colours of runs</dt>
          <dd>
            <span class="swatches" aria-hidden="true">
              {COLOURS.map((colour) => (
                <span key={colour} style={{ background: colour }} />
              ))}
            </span>
            <p class="quiet">
              A run has its colour by its id, the same on every page and for everybody. The first eight can be
              told apart without seeing red and green; runs that share a colour have different dashes.
            </p>
          </dd>
        </div>
      </dl>
      <p class="quiet">Kept in this browser alone.</p>
    </section>
  );
}
