/** Takes a stream of server-sent events apart, however it is cut. Only `data` counts. Source: HTML standard, 9.2.6. */
export class EventParser {
  private rest = "";
  private data: string[] = [];

  constructor(private readonly take: (data: string) => void) {}

  feed(text: string): void {
    const lines = (this.rest + text).split(/\r\n|\n/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") this.dispatch();
      else if (line.startsWith("data:")) this.data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    }
  }

  private dispatch(): void {
    if (this.data.length > 0) this.take(this.data.join("\n"));
    this.data = [];
  }
}
