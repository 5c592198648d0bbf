/** The form of an MCP server's question. */
import type { FormField, FormValue } from '../../shared/wire/elicitation.ts';

export function Fields({ fields }: { readonly fields: readonly FormField[] }) {
  return (
    <>
      {fields.map((field) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: the control is what Input renders
        <label key={field.name}>
          {field.title ?? field.name}
          {field.description && <span class="hint">{field.description}</span>}
          <Input field={field} />
        </label>
      ))}
    </>
  );
}

function Input({ field }: { readonly field: FormField }) {
  const { required } = field;
  const name = nameOf(field);
  switch (field.type) {
    case 'boolean':
      return <input type="checkbox" name={name} defaultChecked={field.default ?? false} />;
    case 'choice':
    case 'choices': {
      const chosen = [field.default ?? []].flat();
      return (
        <select name={name} required={required} multiple={field.type === 'choices'}>
          {!required && field.type === 'choice' && <option value="" />}
          {field.options.map(({ value, label }) => (
            <option key={value} value={value} selected={chosen.includes(value)}>
              {label}
            </option>
          ))}
        </select>
      );
    }
    case 'number':
    case 'integer':
      return (
        <input
          type="number"
          name={name}
          required={required}
          min={field.minimum}
          max={field.maximum}
          step={field.type === 'integer' ? 1 : 'any'}
          defaultValue={field.default === undefined ? '' : String(field.default)}
        />
      );
    default:
      return <input name={name} required={required} defaultValue={field.default ?? ''} />;
  }
}

/** The values that the person gave; a field that was left empty has none. */
export function valuesIn(fields: readonly FormField[], given: FormData): Record<string, FormValue> {
  const entries = fields.map((field): [string, FormValue | undefined] => {
    const all = given.getAll(nameOf(field)).map(String);
    const [text = ''] = all;
    if (field.type === 'boolean') return [field.name, all.length > 0];
    if (field.type === 'choices') return [field.name, all];
    const isNumber = field.type === 'number' || field.type === 'integer';
    return [field.name, text === '' ? undefined : isNumber ? Number(text) : text];
  });
  return Object.fromEntries(
    entries.filter((entry): entry is [string, FormValue] => entry[1] !== undefined),
  );
}

/** The server chooses the names: none of them is one of our own. */
function nameOf({ name }: FormField): string {
  return `field ${name}`;
}
