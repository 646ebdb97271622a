// Text and addresses from anywhere, made harmless for the eye and for the click.

const SAFE = /^(https?:|mailto:)/i;
// Signs that change the order of others or take no room: in a command they can show something else than what would run.
const HIDDEN = /(?![\t\n\r\u200d])[\p{Cc}\p{Cf}]/gu;

/** The address if a browser may safely go there, else null. */
export const safeHref = (href: string): string | null => (SAFE.test(href.trim()) ? href.trim() : null);

/** A text to be judged to the letter: signs that cannot be seen are written out. */
export const visible = (text: string): string =>
  text.replace(
    HIDDEN,
    (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
