/** A QR code for the camera of another device. */
import { useEffect, useState } from 'preact/hooks';

/** Light modules around the code, as the standard asks for (ISO/IEC 18004). */
const BORDER = 4;

/** Shows nothing until the encoder is loaded: few people need it. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const [code, setCode] = useState<{ readonly size: number; readonly dark: string }>();
  useEffect(() => {
    let isCurrent = true;
    void import('uqr').then(({ encode }) => {
      const { size, data } = encode(text, { border: BORDER });
      const squares = data.flatMap((row, y) =>
        row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')),
      );
      if (isCurrent) setCode({ size, dark: squares.join('') });
    });
    return () => {
      isCurrent = false;
    };
  }, [text]);
  if (!code) return null;
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${code.size} ${code.size}`}>
      <rect width={code.size} height={code.size} fill="#fff" />
      <path d={code.dark} fill="#000" />
    </svg>
  );
}
