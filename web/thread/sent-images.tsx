/** The images of a person's message: small, and large in a dialog. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ClientError, type PageClient, type UserMessage } from '../../client/index.ts';
import { words } from '../words/words.ts';

interface SentImagesProps {
  readonly client: PageClient;
  readonly message: UserMessage;
}

/** Read once they come into sight. One that lies elsewhere on the web is counted and never loaded. */
export function SentImages({ client, message: { responseId, imageCount = 0 } }: SentImagesProps) {
  const place = useRef<HTMLDivElement>(null);
  const [urls, setUrls] = useState<readonly string[]>([]);
  useEffect(() => {
    const left = new AbortController();
    const read = async () => {
      const { items } = await client.getImages(responseId, left.signal);
      setUrls(items.map(({ url }) => url).filter((url) => url.startsWith('data:image/')));
    };
    const sight = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      sight.disconnect();
      read().catch((error: unknown) => {
        // Without a network their number has to do.
        if (!left.signal.aborted && !(error instanceof ClientError)) throw error;
      });
    });
    if (place.current) sight.observe(place.current);
    return () => {
      sight.disconnect();
      left.abort();
    };
  }, [client, responseId]);
  return (
    <div class="images" ref={place}>
      {urls.map((url, index) => (
        <Image key={index} url={url} alt={words.imageOfMessage(index + 1, imageCount)} />
      ))}
      {urls.length < imageCount && <p class="hint">{words.images(imageCount - urls.length)}</p>}
    </div>
  );
}

function Image({ url, alt }: { readonly url: string; readonly alt: string }) {
  const large = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" onClick={() => large.current?.showModal()}>
        <img src={url} alt={alt} />
      </button>
      <dialog ref={large} aria-label={alt}>
        <form method="dialog">
          <button type="submit">{words.close}</button>
        </form>
        <img src={url} alt={alt} />
      </dialog>
    </>
  );
}
