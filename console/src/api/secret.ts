// What proves to the server that a page of this origin asks. The cookie does not: browsers send it to every server of the
// host name, whatever its port, while localStorage is of this origin alone.

const KEY = "trainyard.secret";

/** What the server answered to the login; null: this browser is not logged in here. */
export function sessionSecret(): string | null {
  return localStorage.getItem(KEY);
}

export function rememberSecret(secret: string): void {
  localStorage.setItem(KEY, secret);
}

/** For the other tabs, too. */
export function forgetSecret(): void {
  localStorage.removeItem(KEY);
}
