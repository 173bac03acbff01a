// The page's policy lets no style elements and no style attributes be made, which is what xterm.js makes. While a terminal
// is open, its style elements are sheets of the document, and its style attributes are set by script: both are allowed.

type CreateElement = Document["createElement"];

/** From now on, until the function that is returned is called. */
export function allowTerminalStyles(): () => void {
  const sheets: CSSStyleSheet[] = [];
  const create = Document.prototype.createElement;
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    if (name === "style") return styleElement(create.call(document, "span"), sheets);
    const element = create.call(document, name, options);
    if (name === "span") setStylesByScript(element);
    return element;
  }) as CreateElement;
  return () => {
    delete (document as { createElement?: CreateElement }).createElement;
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
  };
}

/** Stands for a style element: its text becomes a sheet. */
function styleElement(element: HTMLElement, sheets: CSSStyleSheet[]): HTMLElement {
  const sheet = new CSSStyleSheet();
  sheets.push(sheet);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  element.hidden = true;
  let text = "";
  Object.defineProperty(element, "textContent", {
    get: () => text,
    set: (value: string) => {
      text = value;
      sheet.replaceSync(value);
    },
  });
  return element;
}

function setStylesByScript(element: HTMLElement): void {
  element.setAttribute = (name: string, value: string) => {
    if (name === "style") element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
}
